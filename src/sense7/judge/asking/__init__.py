"""Asking a judge: the prompt, the endpoint, the journal of answers, and what is written of them."""
