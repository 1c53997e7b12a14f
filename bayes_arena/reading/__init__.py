"""Files and dataframes in, counts out."""
