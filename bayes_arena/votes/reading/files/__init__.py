"""Files, dataframes and data sets on the hub, as frames that stay where they are.

========  ===========================================================
opening   files, dataframes and queries behind one interface
hub       ``hub_files``: votes published on the Hugging Face hub
faults    where a file cannot be read
========  ===========================================================
"""
