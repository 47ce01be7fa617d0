"""`python -m espnet_ctcrep …`: behaves as the interpreter, but ESPnet's ASR training is ours."""

import sys

from espnet_ctcrep.training.launcher import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
