package ddb

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"inorder/ordering"
)

// witnesses are written as a set of texts, "number@nanoseconds since 1970", to which an update can add without a look.
func witnesses(shown []ordering.Witness) *types.AttributeValueMemberSS {
	set := make([]string, len(shown))
	for i, w := range shown {
		set[i] = fmt.Sprintf("%d@%d", w.Seq, w.At.UnixNano())
	}
	return &types.AttributeValueMemberSS{Value: set}
}

// decodeWitnesses returns them in the order of their numbers.
func decodeWitnesses(set []string) ([]ordering.Witness, error) {
	shown := make([]ordering.Witness, len(set))
	for i, text := range set {
		number, at, _ := strings.Cut(text, "@")
		seq, err1 := strconv.ParseInt(number, 10, 64)
		nanos, err2 := strconv.ParseInt(at, 10, 64)
		if err := cmp.Or(err1, err2); err != nil {
			return nil, fmt.Errorf("%q is no witness: %w", text, err)
		}
		shown[i] = ordering.Witness{Seq: seq, At: time.Unix(0, nanos).UTC()}
	}
	slices.SortFunc(shown, func(a, b ordering.Witness) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), a.At.Compare(b.At)) })
	return shown, nil
}
