# Prints MEN, RW, SimLex-999, WS-353, Google and their mean, then the last line of metrics.jsonl.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
one() { # name ranks flags
 name=$1; n=$2; shift 2
 l=; ((n>1)) && l="mpirun --bind-to none --oversubscribe -n $n"
 $l w2vcl train --corpus enwiki.txt --preset pword2vec --mode pword2vec --dim 100 --threads 1 --out r/rk-$name --force --quiet "$@" >>ranks.log 2>&1
 w2vcl eval r/rk-$name/vectors.bin --data sets --json 2>/dev/null | python3 -c "
import json,sys
r={x['dataset']:x['score'] for x in json.load(sys.stdin) if x['metric'] in('spearman','3cosadd')}
v=[r[c] for c in ['MEN','RW','SimLex-999','WS-353','Google']]
print('$name',' '.join('%.3f'%x for x in v),'%.3f'%(sum(v)/5),open('r/rk-$name/metrics.jsonl').readlines()[-1][:300].strip())" >>ranks.txt
}
for n in 1 2 4 8; do one mean-$n $n; done
for n in 4 8; do one adasum-$n $n --combine-rule adasum --hot-words 8192; done
for n in 4 ; do one oldmean-$n $n --sync 4174446 ; done
