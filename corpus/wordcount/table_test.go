package wordcount

import (
	"fmt"
	"strings"
	"testing"
)

// Words of all lengths around the one up to which a key is the whole word, and
// long ones with the same first bytes.
func TestTable(t *testing.T) {
	var words []string
	for length := 1; length <= 40; length++ {
		words = append(words, strings.Repeat("x", length), strings.Repeat("x", length-1)+"y", "y"+strings.Repeat("x", length))
	}
	for i := range 5000 {
		words = append(words, fmt.Sprint(i), fmt.Sprintf("a common begin, number %d", i), fmt.Sprintf("%d a common end of words", i))
	}
	table, ids := newTable(0), map[string]uint32{}
	for round := range 3 {
		for _, word := range words {
			id := table.add(keyOf([]byte(word)), []byte(word), uint64(round+1))
			if first, seen := ids[word]; seen && id != first {
				t.Fatalf("word %q is number %d, was %d", word, id, first)
			}
			ids[word] = id
		}
	}
	found := map[string]bool{}
	for i := range table.slots {
		s := &table.slots[i]
		if s.id == 0 {
			continue
		}
		word := string(table.appendWord(nil, s))
		if found[word] || ids[word] != s.id || s.count%6 != 0 || s.count == 0 {
			t.Errorf("slot of %q: number %d, want %d; count %d; twice: %v", word, s.id, ids[word], s.count, found[word])
		}
		found[word] = true
	}
	if len(found) != len(ids) || table.used != len(ids) || table.used*2 > len(table.slots) {
		t.Errorf("%d words found, %d counted, %d added, %d slots", len(found), table.used, len(ids), len(table.slots))
	}
}

// Equal keys of different long words must not make them equal.
func TestTableKeyCollision(t *testing.T) {
	table := newTable(0)
	a, b := []byte("a word of many letters"), []byte("a word of more letters")
	k := keyOf(a)
	first, second := table.add(k, a, 1), table.add(k, b, 1)
	if first == second || table.add(k, a, 1) != first || table.add(k, b, 1) != second {
		t.Error("different words with equal keys have one number")
	}
}
