package functions

import "errors"

// SweeperSettings are what the sweeper takes from the environment, checked: all of the consumer's, since it does the
// same to the same tables, and
//
//	REPUBLISH_QUEUE_URL   URL of a standard queue
type SweeperSettings struct {
	*Settings
	RepublishURL string
}

// ReadSweeperSettings reads and checks everything before anything is swept. The error lists every fault, one a line.
func ReadSweeperSettings(getenv func(string) string, projections []string) (*SweeperSettings, error) {
	r := settingsReader{getenv: getenv}
	s := &SweeperSettings{Settings: r.settings(projections), RepublishURL: r.requiredQueue("REPUBLISH_QUEUE_URL", false)}
	return s, errors.Join(r.faults...)
}
