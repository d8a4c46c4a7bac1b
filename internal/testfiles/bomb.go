package testfiles

import "encoding/base64"

// Bzip2Bomb returns 360,000,000 letters a, in 8 blocks of bzip2 -9: Go cannot write that format.
func Bzip2Bomb() []byte {
	file, err := base64.StdEncoding.DecodeString("QlpoOTFBWSZTWcJtKvMBX44BAKAAAAggADCATUZCoCWpCoCXMUFZJlNZwm0q8wFfjgEAoAAACCAAMIBNRkKgJakKgJcxQVkmU1nCbSrzAV+OAQCgAAAIIAAwgE1GQqAlqQqAlzFBWSZTWcJtKvMBX44BAKAAAAggADCATUZCoCWpCoCXMUFZJlNZwm0q8wFfjgEAoAAACCAAMIBNRkKgJakKgJcxQVkmU1nCbSrzAV+OAQCgAAAIIAAwgE1GQqAlqQqAlzFBWSZTWcJtKvMBX44BAKAAAAggADCATUZCoCWpCoCXMUFZJlNZW4/hvAEodIEIoABAAAAIIAAwzAUppolQSNhJUEjxdyRThQkAMgfF8A==")
	if err != nil {
		panic(err)
	}
	return file
}
