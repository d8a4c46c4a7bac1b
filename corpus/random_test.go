package corpus

import "testing"

// The known-answer vectors of philox4x32-10 that the authors publish with
// Random123 (tests/kat_vectors).
func TestPhiloxKnownAnswers(t *testing.T) {
	const ones = 1<<64 - 1
	for _, test := range []struct {
		seed    uint64
		stream  Stream
		counter uint64
		want    [4]uint32
	}{
		{0, 0, 0, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{ones, ones, ones, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{0x299f31d0_a4093822, 0x03707344_13198a2e, 0x85a308d3_243f6a88, [4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := Philox(test.seed, test.stream, test.counter); got != test.want {
			t.Errorf("Philox(%#x, %#x, %#x) = %#x, want %#x", test.seed, uint64(test.stream), test.counter, got, test.want)
		}
	}
}

func TestStreams(t *testing.T) {
	if got := StreamNegatives.Sub(7).Sub(1 << 31); got != StreamNegatives|1<<31 {
		t.Errorf("Sub does not replace what Sub set: %#x", uint64(got))
	}
	// Old runs are repeatable only with these numbers.
	if StreamInitWords != 1<<32 {
		t.Errorf("the stream of initial words is %#x", uint64(StreamInitWords))
	}
	for i, s := range []Stream{
		StreamSubsample, StreamWindow, StreamDiscard, StreamDuplicate, StreamNegatives, StreamShuffle,
		StreamRedraws, StreamInitEncoder, StreamWalk, StreamRounding, StreamPhase, StreamShared,
	} {
		if s != Stream(i+3)<<32 {
			t.Errorf("stream number %d is %#x", i+3, uint64(s))
		}
	}
}

func TestBelow(t *testing.T) {
	for _, test := range []struct{ bits, n, want uint32 }{
		{0, 1, 0}, {1<<32 - 1, 1, 0}, {0, 10, 0}, {1<<32 - 1, 10, 9},
		{1 << 31, 2, 1}, {1<<31 - 1, 2, 0}, {1<<32 - 1, 1<<32 - 1, 1<<32 - 2},
	} {
		if got := Below(test.bits, test.n); got != test.want {
			t.Errorf("Below(%d, %d) = %d, want %d", test.bits, test.n, got, test.want)
		}
	}
}
