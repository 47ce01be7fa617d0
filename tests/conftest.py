"""What tests of training and decoding share: a task so small that it trains in seconds."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import yaml

PROJECT = Path(__file__).resolve().parents[1]
TOKENS = ["<blank>", "<unk>", "<space>", *"abcdefgh", "<sos/eos>"]
UPSTREAM = {
    "feat_extract_norm": "layer",
    "do_stable_layer_norm": True,
    "conv_bias": True,
    "conv_dim": [8] * 7,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 2,
    "layerdrop": 0.0,
}
CONFIG = {
    "frontend": "s3prl",
    "frontend_conf": {
        "frontend_conf": {"upstream": "hf_wav2vec2_custom"},
        "multilayer_feature": True,
    },
    "preencoder": "linear",
    "preencoder_conf": {"input_size": 16, "output_size": 12},
    "encoder": "transformer",
    "encoder_conf": {
        "output_size": 16,
        "attention_heads": 2,
        "linear_units": 32,
        "num_blocks": 1,
        "input_layer": "conv2d2",
    },
    "decoder": "none",
    "model_conf": {"ctc_weight": 1.0, "extract_feats_in_collect_stats": False},
    "ctc_conf": {"ctc_type": "deterministic"},
    "specaug": "specaug",
    "specaug_conf": {
        "apply_time_warp": True,
        "time_warp_mode": "bicubic",
        "freq_mask_width_range": [0, 4],
        "time_mask_width_ratio_range": [0.0, 0.1],
    },
    "unused_parameters": True,
    "init": "xavier_uniform",
    "optim": "adam",
    "optim_conf": {"lr": 0.002},
    "batch_type": "sorted",
    "batch_size": 2,
    "max_epoch": 2,
    "num_workers": 0,
    "num_att_plot": 0,
    "use_matplotlib": False,
    "keep_nbest_models": 2,
    "best_model_criterion": [["valid", "loss", "min"]],
}


@dataclass(frozen=True)
class TinyTask:
    """Eight utterances of noise with texts, a small upstream, a config."""

    root: Path

    def launch(self, *argv: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, "-m", "espnet_ctcrep", *argv],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(PROJECT), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def options(self, name: str) -> list[str]:
        """Options of asr_train for a run into the directory `name`."""
        found = ["--config", "config.yaml", "--output_dir", name, "--token_list", "tokens.txt"]
        found += ["--token_type", "char", "--use_preprocessor", "true"]
        for split in ("train", "valid"):
            found += [f"--{split}_data_path_and_name_and_type", "wav.scp,speech,sound"]
            found += [f"--{split}_data_path_and_name_and_type", "text,text,text"]
            found += [f"--{split}_shape_file", "speech_shape"]
        return found

    def train(self, name: str, *options: str) -> subprocess.CompletedProcess:
        return self.launch("-m", "espnet2.bin.asr_train", *self.options(name), *options)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> TinyTask:
    """The tiny task, in a directory whose name has a space and a quote."""
    import soundfile
    from transformers import Wav2Vec2Config, Wav2Vec2FeatureExtractor, Wav2Vec2Model

    root = tmp_path_factory.mktemp("tiny") / "a task's files"
    root.mkdir()
    rng = np.random.default_rng(1)
    scp, text, shape = [], [], []
    for i in range(8):
        samples = 9000 + 1370 * i
        wave = 0.1 * rng.standard_normal(samples) * np.sin(np.arange(samples) / (20 + 5 * i))
        soundfile.write(root / f"{i}.wav", wave, 16000, subtype="PCM_16")
        scp.append(f"utt{i} {root / f'{i}.wav'}\n")
        text.append(f"utt{i} {'abcdefgh'[i:]} {'aab'}\n")
        shape.append(f"utt{i} {samples}\n")
    (root / "wav.scp").write_text("".join(scp))
    (root / "text").write_text("".join(text))
    (root / "speech_shape").write_text("".join(shape))
    (root / "tokens.txt").write_text("".join(f"{t}\n" for t in TOKENS))
    for name, layerdrop in (("upstream", 0.0), ("upstream_layerdrop", 0.5)):
        upstream = Wav2Vec2Model(Wav2Vec2Config(**{**UPSTREAM, "layerdrop": layerdrop}))
        upstream.save_pretrained(root / name)
        Wav2Vec2FeatureExtractor(return_attention_mask=True).save_pretrained(root / name)
    config = yaml.safe_load(yaml.safe_dump(CONFIG))
    config["frontend_conf"]["frontend_conf"]["path_or_url"] = str(root / "upstream")
    (root / "config.yaml").write_text(yaml.safe_dump(config))
    return TinyTask(root)
