"""Where votes come from: files, dataframes and data sets on the hub, as frames that stay in their engine.

==========  ===========================================================
frames      files, dataframes and queries behind one interface
text_files  CSV, TSV and the like, and JSON
hub         ``hub_files``: votes published on the Hugging Face hub
where       rows that fulfil a condition
faults      why a file cannot be read, and where in it
==========  ===========================================================
"""
