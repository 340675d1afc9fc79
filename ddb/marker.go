package ddb

import "inorder/ordering"

// encodeMarker writes a marker. Its attributes are those of a row of the same name. It names its event once more, for
// those who read it, unless the key was too long for that: a marker must never be too large itself.
func encodeMarker(m ordering.Marker) item {
	pk, hashed := markerPK(m)
	out := item{attrPK: text(pk), attrSK: text(markerSK)}
	w := itemWriter(out)
	if !hashed {
		w.text(rowSource, m.Source)
		w.text(rowEventID, m.EventID)
	}
	w.text(rowFingerprint, m.Fingerprint)
	w.text(rowMessageID, m.MessageID)
	w.text(rowToken, m.Token)
	w.epoch(attrExpiresAt, m.ExpiresAt)
	return out
}

// decodeMarker reads a marker that is there in the place of m, and so has its identity.
func decodeMarker(it item, m ordering.Marker) (ordering.Marker, error) {
	r := &itemReader{item: it}
	found := ordering.Marker{
		Consumer:    m.Consumer,
		Source:      m.Source,
		EventID:     m.EventID,
		Fingerprint: r.text(rowFingerprint),
		MessageID:   r.text(rowMessageID),
		Token:       r.text(rowToken),
		ExpiresAt:   r.epoch(attrExpiresAt),
	}
	return found, r.err
}
