"""A package, so that its Chromium is closed before the tests of other folders begin, which run event loops."""
