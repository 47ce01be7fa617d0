#!/usr/bin/env bash
# Stage 1 of asr.sh: data directories from ML-SUPERB's tree; local/data_prep.py does the work.
set -euo pipefail

log() {
    local fname=${BASH_SOURCE[1]##*/}
    echo -e "$(date '+%Y-%m-%dT%H:%M:%S') (${fname}:${BASH_LINENO[0]}:${FUNCNAME[1]}) $*"
}

mlsuperb=            # root of the tree; MLSUPERB of db.sh if empty
duration=1h          # 1h | 10min
languages=eng:voxforge,deu:voxforge,heb:fleurs,jpn:fleurs,rus:fleurs,spa:fleurs
lid=true
nlsyms_txt=data/local/nlsyms.txt
train_set=train_1h
valid_set=dev_1h
test_sets=test_1h

. utils/parse_options.sh
. ./path.sh
. ./db.sh

mlsuperb=${mlsuperb:-${MLSUPERB}}
if [ -z "${mlsuperb}" ]; then
    echo "error: where ML-SUPERB lies is not known; pass ./run.sh --mlsuperb DIR, or fill MLSUPERB in db.sh" >&2
    exit 2
fi

log "data preparation from ${mlsuperb}"
python3 local/data_prep.py \
    --mlsuperb "${mlsuperb}" --duration "${duration}" --languages "${languages}" --lid "${lid}" \
    --train_set "${train_set}" --valid_set "${valid_set}" --test_sets "${test_sets}" \
    --nlsyms_txt "${nlsyms_txt}"
log "data preparation is done"
