package wordcount

import (
	"fmt"
	"testing"
)

// TestMergedPlaces: the words of a partition lie near the places that their hash values
// say. If they were all of one part of the table, to find one would take as long as there are
// words.
func TestMergedPlaces(t *testing.T) {
	d := newDisk(&Disk{Folder: t.TempDir()}, 1)
	defer d.close()
	const words, tables = 200_000, 4
	for n := range tables {
		table := newTable(1)
		for i := range words {
			word := fmt.Appendf(nil, "w%d", i+n*words/2)
			table.add(keyOf(word), word, 1)
		}
		if err := d.write(d.newTable(), table, new([partitions][]byte)); err != nil {
			t.Fatal(err)
		}
	}
	all := 0
	for _, runs := range d.runs {
		var p partition
		if err := p.mergeRuns(d, runs, keeper{minCount: 1}); err != nil {
			t.Fatal(err)
		}
		all += len(p.kept)
		far := 0
		for at := range p.table.slots {
			if s := &p.table.slots[at]; s.id != 0 {
				far += (at - int(s.hash()>>p.table.shift)) & (len(p.table.slots) - 1)
			}
		}
		if far > 4*p.table.used {
			t.Fatalf("%d words are %d slots from their places", p.table.used, far)
		}
	}
	if want := words + (tables-1)*words/2; all != want {
		t.Errorf("%d words, want %d", all, want)
	}
}
