"""A package, so that its tests share one Chromium, which is closed after the last of them."""
