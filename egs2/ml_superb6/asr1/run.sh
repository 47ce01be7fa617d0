#!/usr/bin/env bash
# Many seeds of each arm of a plan: data, training, decoding, scores and the report, by stages.
set -euo pipefail

log() {
    local fname=${BASH_SOURCE[1]##*/}
    echo -e "$(date '+%Y-%m-%dT%H:%M:%S') (${fname}:${BASH_LINENO[0]}:${FUNCNAME[1]}) $*"
}
fail() { echo "error: $*" >&2; exit 2; }

stage=1
stop_stage=14
plan=conf/plans/demo.yaml   # what is compared, with how many seeds
corpus=demo                 # demo | ml_superb
mlsuperb=                   # root of ML-SUPERB's tree (or MLSUPERB in db.sh)
duration=1h                 # 1h | 10min of training data a language
languages=eng:voxforge,deu:voxforge,heb:fleurs,jpn:fleurs,rus:fleurs,spa:fleurs
lid=true                    # language token, [eng], at the start of each transcript
demo_opts=                  # options of local/make_demo_corpus.py
ngpu=                       # GPUs a run; 1 where nvidia-smi lists one, else 0
nj=2                        # parallel jobs of data preparation and statistics
max_jobs=                   # runs side by side; 1 with a GPU, else the number of cores
decoder=greedy              # greedy (ctcrep decode) | espnet (asr_inference, asr.sh's stage 12)
inference_asr_model=valid.loss.ave.pth   # the same in all arms; or valid.loss.best.pth
force=false                 # repeat data stages that are done
arm=                        # with --replicate: training or decoding of this run alone
replicate=

help_message="Usage: $0 [--plan FILE] [--corpus demo|ml_superb] [--mlsuperb DIR] [--stage N] [--stop_stage N]
Stages: 1 data, 3 audio, 4 length filter, 5 tokens, 10 statistics (asr.sh's, once for all runs);
11 training, 12 decoding, 13 scores (every run of the plan), 14 report.
Further options stand with their defaults at the top of this file."

[ -e asr.sh ] && [ -e utils/parse_options.sh ] ||
    fail "ESPnet's scripts are not linked here; run the project's scripts/setup.sh, and this in its directory"
run_args=("$@")
. utils/parse_options.sh
[ $# -eq 0 ] || fail "$1 is no option; see $0 --help"
set +u
. ./path.sh >/dev/null
. ./cmd.sh
set -u

case ${corpus} in
    demo) prefix=demo_; root=downloads/demo_corpus ;;
    ml_superb) prefix=; root=${mlsuperb} ;;
    *) fail "--corpus ${corpus} is unknown; use demo or ml_superb" ;;
esac
[ "${decoder}" = greedy ] || [ "${decoder}" = espnet ] ||
    fail "--decoder ${decoder} is unknown; use greedy or espnet"
if [ "${lid}" = true ]; then suffix=; else suffix=_nolid; fi
if [ -z "${ngpu}" ]; then
    if nvidia-smi -L 2>/dev/null | grep -q '^GPU'; then ngpu=1; else ngpu=0; fi
fi
if [ "${ngpu}" -gt 0 ]; then gpu=true device=cuda jobs=1; else gpu=false device=cpu jobs=$(env -u OMP_NUM_THREADS nproc); fi
max_jobs=${max_jobs:-${jobs}}

train_set=${prefix}train_${duration}${suffix}
valid_set=${prefix}dev_${duration}${suffix}
test_set=${prefix}test_${duration}${suffix}
data_tag=${corpus}_${duration}${suffix}
nlsyms_txt=data/local/${data_tag}/nlsyms.txt
stats_dir=exp/asr_stats_${data_tag}
done_dir=data/.done/${data_tag}
decoded=decode_${decoder}/${test_set}

# plan_dir, plan_test_set, baseline_config; with --arm also run_dir, run_config, run_asr_args
shell_vars=$(ctcrep plan "${plan}" --shell ${arm:+--arm "${arm}" --replicate "${replicate}"})
eval "${shell_vars}"
[ "${plan_test_set}" = "${test_set}" ] ||
    fail "${plan} scores ${plan_test_set}, but these options make ${test_set}; change its test_set, or --corpus, --duration or --lid"

asr() {
    ./asr.sh --ngpu "${ngpu}" --nj "${nj}" --python "python3 -m espnet_ctcrep" \
        --lang "${data_tag}" --token_type char --nlsyms_txt "${nlsyms_txt}" \
        --feats_type raw --feats_normalize utterance_mvn --use_lm false \
        --train_set "${train_set}" --valid_set "${valid_set}" --test_sets "${test_set}" \
        --asr_config "${baseline_config}" --asr_stats_dir "${stats_dir}" \
        --gpu_inference "${gpu}" --inference_nj 1 --inference_config conf/decode_asr.yaml \
        --inference_asr_model "${inference_asr_model}" \
        --local_data_opts "--mlsuperb ${root:-} --duration ${duration} --languages ${languages} --lid ${lid} --nlsyms_txt ${nlsyms_txt} --train_set ${train_set} --valid_set ${valid_set} --test_sets ${test_set}" \
        "$@"
}

# One run of the plan: what the job arrays of stages 11 and 12 call.
if [ -n "${arm}" ]; then
    case ${stage}:${decoder} in
        11:*) asr --stage 11 --stop_stage 11 --asr_exp "${run_dir}" --asr_config "${run_config}" \
            --asr_args "${run_asr_args}" ;;
        12:greedy) ctcrep decode --config "${run_dir}/config.yaml" --device "${device}" \
            --model "${run_dir}/${inference_asr_model}" \
            --wav-scp "dump/raw/${test_set}/wav.scp" --out "${run_dir}/${decoded}" ;;
        12:espnet) asr --stage 12 --stop_stage 12 --asr_exp "${run_dir}" --inference_tag decode_espnet ;;
        *) fail "--arm goes with --stage 11 or --stage 12" ;;
    esac
    exit 0
fi

wanted() { [ "${stage}" -le "$1" ] && [ "${stop_stage}" -ge "$1" ]; }

# need STAGE FILE MAKER: a stage says what it lacks.
need() { [ -e "$2" ] || fail "stage $1 needs $2, which stage $3 makes; run with --stage $3"; }

# data_stage N WHAT: a stage of asr.sh that all runs share, once for the same options.
data_stage() {
    local n=$1 what=$2 options="${root} ${languages} ${demo_opts}" later
    if [ "${force}" = false ] && [ "$(cat "${done_dir}/${n}" 2>/dev/null)" = "${options}" ]; then
        log "stage ${n}, ${what}: done before"
        return
    fi
    log "stage ${n}, ${what}"
    mkdir -p "${done_dir}"
    for later in 1 3 4 5 10; do
        if [ "${later}" -ge "${n}" ]; then rm -f "${done_dir}/${later}"; fi
    done
    if ! asr --stage "${n}" --stop_stage "${n}" </dev/null >"${done_dir}/${n}.log" 2>&1; then
        grep -a '^error: ' "${done_dir}/${n}.log" >&2 || tail -n 20 "${done_dir}/${n}.log" >&2
        fail "stage ${n}, ${what}, failed; its log is ${done_dir}/${n}.log"
    fi
    echo "${options}" >"${done_dir}/${n}"
}

array_step() { # array_step STEP COMMAND: a job array over the runs that lack the step
    ctcrep run --step "$1" --cmd "$2" --max-jobs "${max_jobs}" --decoded "${decoded}" \
        "${plan_dir}" ./run.sh "${run_args[@]}"
}

if wanted 1; then
    if [ "${corpus}" = demo ]; then
        # shellcheck disable=SC2086
        python3 local/make_demo_corpus.py --out "${root}" ${demo_opts}
        python3 local/make_demo_upstream.py --out downloads/demo_upstream
    fi
    data_stage 1 "data directories"
    cat "data/local/${data_tag}/counts.txt"
fi
if wanted 3; then need 3 "data/${train_set}/text" 1; data_stage 3 "audio in dump/"; fi
if wanted 4; then need 4 "dump/raw/org/${train_set}/text" 3; data_stage 4 "filter by length"; fi
if wanted 5; then need 5 "dump/raw/${train_set}/text" 4; data_stage 5 "token list"; fi
if wanted 10; then
    need 10 "data/${data_tag}_token_list/char/tokens.txt" 5
    data_stage 10 "statistics"
fi
if wanted 11; then
    need 11 "${stats_dir}/train/speech_shape" 10
    ctcrep plan "${plan}" --freeze --data "dump/raw/${train_set}" --data "dump/raw/${valid_set}" \
        --data "dump/raw/${test_set}"
    log "stage 11, training"
    array_step train "${cuda_cmd}"
fi
if wanted 12; then
    need 12 "${plan_dir}/plan.lock.json" 11
    log "stage 12, decoding"
    if [ "${gpu}" = true ]; then array_step decode "${cuda_cmd}"; else array_step decode "${decode_cmd}"; fi
fi
if wanted 13; then
    need 13 "${plan_dir}/plan.lock.json" 11
    log "stage 13, scores"
    ctcrep score --plan-dir "${plan_dir}" --decoded "${decoded}" \
        --ref "data/${test_set}/text" --utt2lang "data/${test_set}/utt2lang"
fi
if wanted 14; then
    need 14 "${plan_dir}/plan.lock.json" 11
    log "stage 14, report"
    ctcrep report --plan "${plan_dir}"
fi
