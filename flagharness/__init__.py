"""flagharness: vision-language models measured on benchmarks, one folder per benchmark."""

__version__ = "0.1.0"
