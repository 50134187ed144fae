"""The APIs of language models: chat completions, Responses and Messages."""
