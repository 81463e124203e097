#!/bin/sh
# nkey.sh FILE - a new key by which an agent or an asker is known to nats-server: an Ed25519 key that openssl makes, in the
# form of NATS. The seed, which is the secret, is written to FILE, with mode 0600; the public key, which belongs into
# nats-server.conf and into fleet.conf, is printed.
set -eu
[ $# = 1 ] || {
	sed -n '2,4s/^# //p' "$0" >&2
	exit 2
}
[ ! -e "$1" ] || {
	echo "nkey.sh: $1 is there already" >&2
	exit 1
}
umask 077

# bytes: the numbers of its input, with blanks between them.
bytes() {
	od -An -v -tu1 | tr -s ' \n' ' '
}

# encode NUMBER...: these bytes and their CRC-16 (XMODEM, low byte first) in base 32.
encode() {
	crc=0
	for byte; do
		crc=$((crc ^ byte << 8))
		for _ in 1 2 3 4 5 6 7 8; do
			crc=$((crc & 0x8000 ? (crc << 1 ^ 0x1021) & 0xffff : crc << 1))
		done
	done
	for byte in "$@" $((crc & 255)) $((crc >> 8)); do
		# shellcheck disable=SC2059
		printf "\\$(printf %03o "$byte")"
	done | base32 -w 0 | tr -d =
}

# Both forms of DER end with the 32 bytes of the key.
key=$(openssl genpkey -algorithm ed25519)
secret=$(printf '%s\n' "$key" | openssl pkey -outform DER | tail -c 32 | bytes)
public=$(printf '%s\n' "$key" | openssl pkey -pubout -outform DER | tail -c 32 | bytes)
# Of a seed (18) of a user (20).
# shellcheck disable=SC2086
printf '%s\n' "$(encode 149 0 $secret)" >"$1"
# shellcheck disable=SC2086
printf '%s\n' "$(encode 160 $public)"
