#!/usr/bin/env python3
"""Make the demo's upstream: an untrained wav2vec 2.0 of MMS-300M's class, scaled down."""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

# What makes MMS-300M's class: layer norm in the feature extractor, convolutions with bias,
# stable layer norm in the transformer, seven convolutions that come to 320 samples a frame.
# Only widths, depth and the reach of the positional convolution are smaller than MMS's.
CONFIG = {
    "feat_extract_norm": "layer",
    "do_stable_layer_norm": True,
    "conv_bias": True,
    "conv_dim": [16, 24, 32, 48, 64, 64, 64],
    "hidden_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 256,
    "num_conv_pos_embeddings": 32,
    "num_conv_pos_embedding_groups": 4,
    "hidden_dropout": 0.0,
    "attention_dropout": 0.0,
    "activation_dropout": 0.0,
    "feat_proj_dropout": 0.0,
    "layerdrop": 0.0,
    "mask_time_prob": 0.0,
    "mask_feature_prob": 0.0,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="directory of the model")
    parser.add_argument("--seed", type=int, default=300, help="seed of the weights")
    args = parser.parse_args()
    if (args.out / "model.safetensors").exists():
        print(f"{args.out} is there already")
        return 0
    # slow to import, so not before there is something to make
    import torch
    from transformers import Wav2Vec2Config, Wav2Vec2FeatureExtractor, Wav2Vec2Model

    args.out.parent.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(args.seed)
    model = Wav2Vec2Model(Wav2Vec2Config(**CONFIG))
    extractor = Wav2Vec2FeatureExtractor(
        feature_size=1, sampling_rate=16000, do_normalize=True, return_attention_mask=True
    )
    with tempfile.TemporaryDirectory(dir=args.out.parent, prefix=f".{args.out.name}.") as tmp:
        made = Path(tmp) / "model"
        model.save_pretrained(made)
        extractor.save_pretrained(made)
        if args.out.exists():  # left by a call that was stopped before the weights were there
            shutil.rmtree(args.out)
        made.rename(args.out)
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{args.out}: wav2vec 2.0 with {parameters / 1e6:.2f} M parameters, untrained")
    return 0


if __name__ == "__main__":
    sys.exit(main())
