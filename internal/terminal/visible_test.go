package terminal

import (
	"encoding/json"
	"testing"
)

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"naïve 日本\t👩‍💻\n":      "naïve 日本\t👩‍💻\n",
		"a\x1b[31mb":           `a\u001b[31mb`,
		"\x01\x7f\u009b\r":     `\u0001\u007f\u009b\u000d`,
		"\uFFFE\uFFFF\uFFFD":   `\ufffe\uffff` + "\uFFFD",
		"a\u202Eb\u2066\u200E": `a\u202eb\u2066` + "\u200E",
	} {
		if got := Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		encoded, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal([]byte(Visible(string(encoded))), &back); err != nil || back != text {
			t.Errorf("%q as JSON: %q, %v", text, back, err)
		}
	}
	if got := VisibleLine("a\r\nb\tc\x1b"); got != `a b c\u001b` {
		t.Errorf("%q", got)
	}
}
