#!/usr/bin/env bash
# Many seeds of each arm of a plan: data, training, decoding, scores and the report, by stages.
set -euo pipefail

log() {
    local fname=${BASH_SOURCE[1]##*/}
    echo -e "$(date '+%Y-%m-%dT%H:%M:%S') (${fname}:${BASH_LINENO[0]}:${FUNCNAME[1]}) $*"
}

stage=1
stop_stage=14
plan=conf/plans/demo.yaml   # what is compared, with how many seeds
corpus=demo                 # demo | ml_superb
mlsuperb=                   # root of ML-SUPERB's tree, for --corpus ml_superb (or MLSUPERB in db.sh)
duration=1h                 # 1h | 10min of training data a language
languages=eng:voxforge,deu:voxforge,heb:fleurs,jpn:fleurs,rus:fleurs,spa:fleurs
lid=true                    # the language token, [eng], at the start of each transcript
demo_opts=                  # options of local/make_demo_corpus.py
ngpu=                       # GPUs a run; default: 1 where nvidia-smi lists one, else 0
nj=2                        # parallel jobs of data preparation and statistics
max_jobs=                   # runs side by side; default: 1 with a GPU, else the number of cores
decoder=greedy              # greedy (ctcrep decode) | espnet (asr_inference, stage 12 of asr.sh)
inference_asr_model=valid.loss.ave.pth   # the same in all arms; or valid.loss.best.pth
force=false                 # repeat data stages that are done
arm=                        # with --replicate: stages 11-13 for this run alone
replicate=

run_args=$(printf '%q ' "$@")
if [ ! -e asr.sh ] || [ ! -e utils/parse_options.sh ]; then
    echo "error: ESPnet's scripts are not linked here; run scripts/setup.sh of the project first" >&2
    exit 2
fi
. utils/parse_options.sh
. ./path.sh >/dev/null
. ./cmd.sh

fail() { echo "error: $*" >&2; exit 2; }

case ${corpus} in
    demo) prefix=demo_; corpus_root=downloads/demo_corpus ;;
    ml_superb) prefix=; corpus_root=${mlsuperb} ;;
    *) fail "--corpus ${corpus} is unknown; use demo or ml_superb" ;;
esac
case ${decoder} in
    greedy | espnet) ;;
    *) fail "--decoder ${decoder} is unknown; use greedy or espnet" ;;
esac
[ "${lid}" = true ] && suffix= || suffix=_nolid
[ -n "${ngpu}" ] || { nvidia-smi -L 2>/dev/null | grep -q '^GPU' && ngpu=1 || ngpu=0; }
[ -n "${max_jobs}" ] || { [ "${ngpu}" -gt 0 ] && max_jobs=1 || max_jobs=$(nproc); }

train_set=${prefix}train_${duration}${suffix}
valid_set=${prefix}dev_${duration}${suffix}
test_set=${prefix}test_${duration}${suffix}
data_tag=${corpus}_${duration}${suffix}
nlsyms_txt=data/local/${data_tag}_nlsyms.txt
asr_stats_dir=exp/asr_stats_${data_tag}
done_dir=data/.done/${data_tag}

# plan_dir, plan_test_set, baseline_config
eval "$(ctcrep plan "${plan}" --shell)"
[ "${plan_test_set}" = "${test_set}" ] ||
    fail "${plan} scores ${plan_test_set}, but --corpus ${corpus} --duration ${duration} makes ${test_set}; change test_set or the options"

asr() {
    ./asr.sh --ngpu "${ngpu}" --nj "${nj}" --python "python3 -m espnet_ctcrep" \
        --lang "${data_tag}" --token_type char --nlsyms_txt "${nlsyms_txt}" \
        --feats_type raw --feats_normalize utterance_mvn --use_lm false \
        --train_set "${train_set}" --valid_set "${valid_set}" --test_sets "${test_set}" \
        --asr_config "${baseline_config}" --asr_stats_dir "${asr_stats_dir}" \
        --gpu_inference "$([ "${ngpu}" -gt 0 ] && echo true || echo false)" \
        --inference_nj 1 --inference_config conf/decode_asr.yaml \
        --inference_asr_model "${inference_asr_model}" \
        --local_data_opts "--mlsuperb ${corpus_root} --duration ${duration} --languages ${languages} \
--lid ${lid} --nlsyms_txt ${nlsyms_txt} --train_set ${train_set} --valid_set ${valid_set} --test_sets ${test_set}" \
        "$@"
}

wanted() { [ "${stage}" -le "$1" ] && [ "${stop_stage}" -ge "$1" ]; }

# A stage needs a file that an earlier one makes.
need() { [ -e "$2" ] || fail "stage $1 needs $2, which stage $3 makes; run with --stage $3"; }

# Stages of asr.sh run once for all runs of all plans on this data.
data_stage() {
    local n=$1 what=$2 options="${corpus_root} ${languages} ${demo_opts}"
    if [ "${force}" = false ] && [ "$(cat "${done_dir}/${n}" 2>/dev/null)" = "${options}" ]; then
        log "Stage ${n} (${what}) is done; --force true repeats it"
        return
    fi
    log "Stage ${n}: ${what}"
    mkdir -p "${done_dir}"
    for later in 1 3 4 5 10; do [ "${later}" -lt "${n}" ] || rm -f "${done_dir}/${later}"; done
    asr --stage "${n}" --stop_stage "${n}" >"${done_dir}/${n}.log" 2>&1 || {
        tail -n 30 "${done_dir}/${n}.log" >&2
        fail "stage ${n} (${what}) failed; the whole log is ${done_dir}/${n}.log"
    }
    echo "${options}" >"${done_dir}/${n}"
}

# Stages 11 and 12 of one run, called by the job array below.
if [ -n "${arm}" ]; then
    run_dir=${plan_dir}/${arm}/r${replicate}
    eval "$(ctcrep plan "${plan}" --shell --arm "${arm}" --replicate "${replicate}")"
    if wanted 11; then
        asr --stage 11 --stop_stage 11 --asr_exp "${run_dir}" --asr_config "${run_config}" \
            --asr_args "${run_args_asr}"
    fi
    if wanted 12; then
        if [ "${decoder}" = espnet ]; then
            asr --stage 12 --stop_stage 12 --asr_exp "${run_dir}" --inference_tag decode_espnet
        else
            ctcrep decode --config "${run_dir}/config.yaml" --model "${run_dir}/${inference_asr_model}" \
                --wav-scp "dump/raw/${test_set}/wav.scp" --out "${run_dir}/decode_greedy/${test_set}" \
                --device "$([ "${ngpu}" -gt 0 ] && echo cuda || echo cpu)"
        fi
    fi
    exit 0
fi

if wanted 1; then
    if [ "${corpus}" = demo ]; then
        # shellcheck disable=SC2086
        python3 local/make_demo_corpus.py --out "${corpus_root}" ${demo_opts}
        python3 local/make_demo_upstream.py --out downloads/demo_upstream
    fi
    data_stage 1 "data preparation"
    cat "data/local/${data_tag}_counts.txt"
fi
if wanted 3; then need 3 "data/${train_set}/text" 1; data_stage 3 "audio into dump/"; fi
if wanted 4; then need 4 "dump/raw/org/${train_set}/text" 3; data_stage 4 "filter by length"; fi
if wanted 5; then need 5 "dump/raw/${train_set}/text" 4; data_stage 5 "token list"; fi
if wanted 10; then
    need 10 "data/${data_tag}_token_list/char/tokens.txt" 5
    data_stage 10 "statistics"
fi

run_step() {
    ctcrep run "${plan_dir}" --step "$1" --cmd "$2" --max-jobs "${max_jobs}" -- ./run.sh ${run_args}
}
if wanted 11; then
    need 11 "${asr_stats_dir}/train/speech_shape" 10
    ctcrep plan "${plan}" --freeze --data "dump/raw/${train_set}" --data "dump/raw/${valid_set}" --data "dump/raw/${test_set}"
    run_step train "${cuda_cmd}"
fi
