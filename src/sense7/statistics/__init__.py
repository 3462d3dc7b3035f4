"""Estimators: arrays in, estimates out. What they know of a study is which row belongs to which participant."""
