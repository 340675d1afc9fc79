package functions

import (
	"strings"
	"unicode/utf8"

	"inorder/events"
)

// sendable escapes, in JSON, the two characters that JSON may hold as they are and SQS refuses.
func sendable(json string) string {
	return strings.NewReplacer("\ufffe", `\ufffe`, "\uffff", `\uffff`).Replace(json)
}

// canSend reports whether SQS takes a message as it is and gives it back as it was.
func canSend(m events.Message) bool {
	if len(m.Attributes) > maxAttributes || !allowed(m.Body) {
		return false
	}
	size := len(m.Body)
	for name, a := range m.Attributes {
		if a.Type == "" || !isBinary(a.Type) && !allowed(a.Text) || isBinary(a.Type) && len(a.Binary) == 0 {
			return false
		}
		size += len(name) + len(a.Type) + len(a.Text) + len(a.Binary)
	}
	return size <= maxMessageBytes
}

// allowed reports whether SQS takes a text: it is not empty, valid UTF-8, and holds only #x9, #xA, #xD, #x20 to #xD7FF,
// #xE000 to #xFFFD and #x10000 to #x10FFFF ("SendMessage" in the Amazon SQS API Reference). Others are refused, or
// replaced, which would be worse.
func allowed(text string) bool {
	for i, r := range text {
		switch {
		case r == utf8.RuneError:
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return false
			}
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0xFFFE, r == 0xFFFF:
			return false
		}
	}
	return text != ""
}
