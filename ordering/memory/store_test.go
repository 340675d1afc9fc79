package memory_test

import (
	"testing"

	"inorder/ordering"
	"inorder/ordering/memory"
	"inorder/ordering/storetest"
)

// The fake keeps the same promises as the real store, or the simulations on it would prove nothing.
func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) ordering.Upkeep { return &memory.Store{} }, storetest.Options{})
}
