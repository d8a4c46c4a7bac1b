for rep in 1 2 3; do for t in 1 2; do
 for b in native lto; do for m in skipgram cbow; do
 s=$(date +%s.%N); ft-$b $m -input e10.txt -output ftm -dim 100 -epoch 3 -lr .05 -minCount 5 -ws 5 -neg 5 -minn 3 -maxn 6 -thread $t -verbose 2 > ft.log 2>&1; e=$(date +%s.%N)
 w=$(tr '\r' '\n' < ft.log | grep -o 'words/sec/thread: *[0-9]*' | tail -1 | grep -o '[0-9]*$')
 echo "rep $rep threads $t fasttext $b $m whole $(echo "$e $s" | awk '{printf "%.2f",$1-$2}') s words/s/thread $w"; done; done
 for m in "word2vec" "word2vec --model cbow" "pword2vec" "fullw2v"; do
 s=$(date +%s.%N); w2vcl train --corpus e10.txt --mode $m --subword ngram --dim 100 --epochs 3 --min-count 5 --window 5 --negative 5 --threads $t --out ro --force --quiet --checkpoint 0 > o.log 2>&1; e=$(date +%s.%N)
 echo "rep $rep threads $t $m whole $(echo "$e $s" | awk '{printf "%.2f",$1-$2}') s words/s $(python3 -c "import json;print('%.0f'%json.load(open('ro/summary.json'))['words_per_second'])")"; done
done; done
