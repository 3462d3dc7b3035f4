"""What tests of several folders share: `from helpers.studies import bootstrap_of`."""
