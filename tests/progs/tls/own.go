// A TLS server and its client in one program, on loopback: the client sends two lines, the server answers each.
package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"time"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func certificate() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	t := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &t, &t, &key.PublicKey, key)
	check(err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func main() {
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate()}})
	check(err)
	done := make(chan bool)
	go func() {
		defer close(done)
		c, err := l.Accept()
		check(err)
		in := bufio.NewReader(c)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			time.Sleep(time.Millisecond)
			fmt.Fprintf(c, "you said %s", line)
		}
	}()
	c, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true})
	check(err)
	in := bufio.NewReader(c)
	for i := 1; i <= 2; i++ {
		fmt.Fprintf(c, "question %d\n", i)
		line, err := in.ReadString('\n')
		check(err)
		fmt.Print(line)
	}
	check(c.Close())
	<-done
}
