package embedding

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// powersOfTen are exact in float64.
var powersOfTen = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// parseFloat parses the number at the start of b, up to a separator or the end,
// and returns its length in bytes. It rounds as strconv.ParseFloat(s, 32) does,
// but is faster for the numbers in files of vectors. NaN and infinity are errors.
func parseFloat(b []byte) (value float32, length int, err error) {
	var mantissa uint64
	var digits, fraction int // all digits, and the digits after the point
	i, point := 0, false
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		i++
	}
	for ; i < len(b); i++ {
		if c := b[i] - '0'; c <= 9 {
			mantissa = mantissa*10 + uint64(c)
			digits++
			if point {
				fraction++
			}
		} else if b[i] == '.' && !point {
			point = true
		} else {
			break
		}
	}
	exponent := -fraction
	plain := digits > 0 && digits <= 18
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') && plain {
		e, n := parseExponent(b[i+1:])
		plain = n > 0
		exponent += e
		i += 1 + n
	}
	if !plain || i < len(b) && !isSeparator(b[i]) || mantissa >= 1<<53 || exponent < -22 || exponent > 22 {
		return parseAnyFloat(b)
	}
	// Mantissa and power are exact, so this one operation rounds correctly to
	// float64 (the fast path of Clinger, "How to read floating point numbers
	// accurately", PLDI 1990).
	v := float64(mantissa)
	if exponent < 0 {
		v /= powersOfTen[-exponent]
	} else {
		v *= powersOfTen[exponent]
	}
	// float32 drops the low 29 bits of a float64's mantissa. This second rounding
	// is correct unless v lies exactly between two float32, or is too small for
	// all bits of a float32, or too large.
	const dropped, middle = 1<<29 - 1, 1 << 28
	if math.Float64bits(v)&dropped == middle || v != 0 && (v < 0x1p-126 || v > math.MaxFloat32) {
		return parseAnyFloat(b)
	}
	if negative {
		v = -v
	}
	return float32(v), i, nil
}

// parseExponent parses an exponent of at most three digits and returns its length
// n in bytes. n is 0 if there is none or it is longer.
func parseExponent(b []byte) (e, n int) {
	negative := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		n++
	}
	start := n
	for ; n < len(b) && b[n]-'0' <= 9; n++ {
		if n-start == 3 {
			return 0, 0
		}
		e = e*10 + int(b[n]-'0')
	}
	if n == start {
		return 0, 0
	}
	if negative {
		e = -e
	}
	return e, n
}

// parseAnyFloat is the slow path of parseFloat. It alone returns errors.
func parseAnyFloat(b []byte) (value float32, length int, err error) {
	for length < len(b) && !isSeparator(b[length]) {
		length++
	}
	v, err := strconv.ParseFloat(string(b[:length]), 32)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, length, fmt.Errorf("%s is out of the range of float32", shorten(b[:length]))
	case err != nil:
		return 0, length, fmt.Errorf("%s is not a number", shorten(b[:length]))
	case !Finite(float32(v)):
		return 0, length, fmt.Errorf("the value is %s", b[:length])
	}
	return float32(v), length, nil
}

// shorten quotes a part of a file for an error message.
func shorten(b []byte) string {
	const most = 40
	if len(b) > most {
		return fmt.Sprintf("%q…", b[:most])
	}
	return fmt.Sprintf("%q", b)
}

// onlyNumbers reports whether a line is one or more numbers separated by tabs.
// Only the projector's files begin with such a line.
func onlyNumbers(line []byte) bool {
	line = trimLineEnd(line)
	for {
		_, n, err := parseFloat(line)
		if err != nil || n < len(line) && line[n] != '\t' {
			return false
		}
		if n == len(line) {
			return true
		}
		line = line[n+1:]
	}
}

// trimLineEnd cuts the line break off, and the spaces that word2vec and fastText
// leave before it.
func trimLineEnd(line []byte) []byte {
	for len(line) > 0 {
		switch line[len(line)-1] {
		case '\n', '\r', ' ', '\t':
			line = line[:len(line)-1]
		default:
			return line
		}
	}
	return line
}
