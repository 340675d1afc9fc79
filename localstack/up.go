package main

import (
	"context"
	"errors"
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
	Mode string `help:"auto (Docker where an engine answers, else host), docker or host." default:"auto" enum:"auto,docker,host" env:"CLOUD"`
	Port int    `help:"On 127.0.0.1 (default: 4566, or any that is free)." placeholder:"PORT"`
}

// Run starts a cloud that lives until `down`. Where one runs already it says so.
func (u *upCommand) Run(ctx context.Context, out, notes io.Writer) error {
	c, err := u.open(notes)
	if err == nil {
		fmt.Fprintf(out, "it runs already: %s\n", c)
		return nil
	}
	if none := (*cloud.NotRunningError)(nil); !errors.As(err, &none) || none.Was != "" {
		return err
	}
	folder, err := u.folder()
	if err != nil {
		return err
	}
	port := u.Port
	if port == 0 && free(usualPort) {
		port = usualPort
	}
	c, err = cloud.Start(ctx, cloud.Options{Mode: u.Mode, Port: port, Folder: folder, Detached: true, Progress: notes})
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
