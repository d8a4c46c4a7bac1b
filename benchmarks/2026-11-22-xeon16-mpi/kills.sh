# A rank of two is killed at random, kills.sh N times, and the run goes on on one: needs l.txt, a text of 3 MB in lines.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
T="--corpus l.txt --tempering 0 --positives 1 --shared-negatives 0 --dim 50 --contexts 600 --epochs 6 --threads 1 --checkpoint 20 --quiet --min-count 20 --seed 3"
rm -rf g g.partial; w2vcl train $T --out g; want=$(sha256sum < g/vectors.bin); good=0; slow=0
for i in $(seq ${1:-10}); do
 rm -rf kk kk.partial; mpirun --oversubscribe --bind-to none -n 2 w2vcl train $T --out kk >kk.log 2>&1 & p=$!
 for _ in $(seq 400); do [ -e kk.partial/checkpoint.safetensors ] && break; sleep .05; done
 sleep 0.$((RANDOM % 9)); k=$(pgrep -P $p | sed -n "$((1 + RANDOM % 2))p"); s=$(date +%s%N); kill -KILL $k; wait $p; rc=$?; t=$(( ($(date +%s%N) - s) / 1000000 ))
 timeout 60 w2vcl resume kk --quiet; r=$?; [ "$(sha256sum < kk/vectors.bin)" = "$want" ] && [ $rc != 0 ] && [ $t -lt 10000 ] && good=$((good+1)); echo "kill $i: job rc $rc after $t ms, resume $r, $good good"
done
