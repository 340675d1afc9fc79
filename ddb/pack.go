package ddb

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// packFrom is the length from which a text is compressed. A write costs one unit for each KB begun, so below it nothing
// would be saved, and a text that is left as it is can be read in the console.
const packFrom = 1 << 10

// maxUnpacked bounds what one packed text may become again: far more than a message can be, far less than a bomb.
const maxUnpacked = 16 << 20

// pack keeps a text byte for byte: as a string, or, where that is long or not UTF-8, as a binary that gunzip reads.
func pack(s string) (types.AttributeValue, error) {
	valid := utf8.ValidString(s)
	if len(s) < packFrom && valid {
		return text(s), nil
	}
	z, err := zip(s)
	if err != nil {
		return nil, err
	}
	if len(z) >= len(s) && valid {
		return text(s), nil
	}
	return &types.AttributeValueMemberB{Value: z}, nil
}

// A gzip writer weighs most of a megabyte, so they are used again.
var zippers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

func zip(s string) ([]byte, error) {
	var b bytes.Buffer
	w := zippers.Get().(*gzip.Writer)
	defer zippers.Put(w)
	w.Reset(&b)
	if _, err := io.WriteString(w, s); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func unzip(b []byte) (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return "", err
	}
	out, err := io.ReadAll(io.LimitReader(r, maxUnpacked+1))
	if err != nil {
		return "", err
	}
	if len(out) > maxUnpacked {
		return "", fmt.Errorf("more than %d bytes", maxUnpacked)
	}
	return string(out), nil
}

// packed reads what pack wrote.
func (r *itemReader) packed(name string) string {
	switch v := r.item[name].(type) {
	case nil:
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberB:
		s, err := unzip(v.Value)
		if err != nil {
			r.fail(name, err)
		}
		return s
	default:
		r.fail(name, v)
	}
	return ""
}
