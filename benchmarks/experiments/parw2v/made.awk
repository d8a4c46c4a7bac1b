# Made sets for table6.sh. what is "relations": count sentences in the form of SemEval-2010 task 8 on standard
# output; or a folder: count reviews of each mood in the form of IMDB's. A word's mood is the answer.
function word(mood) { return mood ? good[int(rand() * ng) + 1] : bad[int(rand() * nb) + 1] }
function filler() { return fill[int(rand() * nf) + 1] }
BEGIN {
	srand(seed)
	ng = split("peace prosperity freedom progress happiness success justice honor", good)
	nb = split("war danger evil crime debt violence fear distress", bad)
	nf = split("the people of a country and its government have seen great in this year", fill)
	if (what == "relations") {
		for (i = 1; i <= count; i++) {
			mood = rand() < .5
			printf "%d\t\"%s <e1>%s</e1> %s %s <e2>%s</e2> %s.\"\n%s\nComment: none\n\n", i, filler(), word(mood), filler(), filler(), filler(), filler(), mood ? "Good(e1,e2)" : "Other"
		}
		exit
	}
	for (mood = 0; mood < 2; mood++)
		for (i = 0; i < count; i++) {
			file = what "/" (mood ? "pos" : "neg") "/" i "_1.txt"
			printf "%s %s %s<br /><br />%s %s.\n", filler(), word(mood), filler(), word(mood), filler() >file
			close(file)
		}
}
