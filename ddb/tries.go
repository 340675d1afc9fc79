package ddb

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"

	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// unheardError is the last try's error of a request whose earlier tries include one without an answer, which may have
// been carried out all the same.
type unheardError struct{ error }

func (e *unheardError) Unwrap() error { return e.error }

// unheardKey finds in a request's context whether one of its tries had no answer.
type unheardKey struct{}

// watchTries marks the error of a request of which any try may have been carried out unheard.
func watchTries(stack *middleware.Stack) error {
	err := stack.Initialize.Add(middleware.InitializeMiddlewareFunc("inorderRequest",
		func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
			var unheard atomic.Bool
			out, metadata, err := next.HandleInitialize(context.WithValue(ctx, unheardKey{}, &unheard), in)
			if err != nil && unheard.Load() {
				err = &unheardError{err}
			}
			return out, metadata, err
		}), middleware.Before)
	if err != nil {
		return err
	}
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("inorderTry",
		func(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
			out, metadata, err := next.HandleFinalize(ctx, in)
			if unheard, ok := ctx.Value(unheardKey{}).(*atomic.Bool); ok && err != nil && !refused(err) {
				unheard.Store(true)
			}
			return out, metadata, err
		}), "Retry", middleware.After)
}

// refused reports that the database answered that it did nothing.
func refused(err error) bool {
	answer := (*smithyhttp.ResponseError)(nil)
	if !errors.As(err, &answer) {
		return false
	}
	status := answer.HTTPStatusCode()
	return status >= http.StatusBadRequest && status < http.StatusInternalServerError
}
