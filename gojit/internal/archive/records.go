package archive

import "bytes"

// Record is one entry of an archive.
type Record struct {
	Name string
	Data []byte
}

// RecordsArchive returns the archive of records. One called "version" is the archive's version.
func RecordsArchive(records []Record) ([]byte, error) {
	var b bytes.Buffer
	err := writeArchive(&b, noFile, ownRecords(records))
	return b.Bytes(), err
}

// SaveRecords writes the archive of records to a file, which stays as it is where that fails.
func SaveRecords(file string, records []Record, progress Progress) error {
	return saveRecords(file, ownRecords(records), progress)
}

func ownRecords(records []Record) []record {
	own := make([]record, len(records))
	for i, r := range records {
		own[i] = record{r.Name, r.Data}
	}
	return own
}
