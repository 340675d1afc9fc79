package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"strconv"

	"inorder/localstack/cloud"
)

// usualPort is LocalStack's own, which other tools try first.
const usualPort = 4566

type upCommand struct {
	Place
	Wanted
	Port int `help:"On 127.0.0.1 (default: 4566, or any that is free)." placeholder:"PORT"`
}

// Run starts a cloud that lives until `down`. Where one runs already it says so, also while somebody deploys to that.
func (u *upCommand) Run(ctx context.Context, out, notes io.Writer) error {
	if c, err := u.open(notes); err == nil && !c.Starting() {
		return u.already(ctx, c, out)
	}
	unlock, err := u.lock(ctx, "up", notes)
	if err != nil {
		return err
	}
	defer unlock()
	c, err := u.open(notes)
	switch {
	case err == nil:
		return u.already(ctx, c, out)
	case !neverWas(err):
		return err
	}
	return u.start(ctx, out, notes)
}

// already says what runs, if that is what was asked for and answers.
func (u *upCommand) already(ctx context.Context, c *cloud.Cloud, out io.Writer) error {
	if err := c.Fits(u.Mode); err != nil {
		return err
	}
	if err := c.Check(ctx); err != nil {
		return err
	}
	fmt.Fprintf(out, "it runs already: %s\n", c)
	return nil
}

func (u *upCommand) start(ctx context.Context, out, notes io.Writer) error {
	folder, err := u.folder()
	if err != nil {
		return err
	}
	port := u.Port
	if port == 0 && free(usualPort) {
		port = usualPort
	}
	c, err := cloud.Start(ctx, cloud.Options{Mode: u.Mode, Port: port, Folder: folder, Detached: true, Progress: notes})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n\n  deploy to it   make cloud-deploy\n  stop it        make cloud-down\n", c)
	return nil
}

func free(port int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	return err == nil && listener.Close() == nil
}
