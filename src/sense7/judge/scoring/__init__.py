"""How good predictions are: metrics, baselines, the noise ceiling, and the judges that are available."""
