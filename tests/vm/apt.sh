# apt.sh - packages of Debian without touching what is installed here: sourced by fetch.sh and tree.sh.
#
#	own_begin FOLDER ARCH SUITE...    an apt root of its own in FOLDER
#	own_apt apt-get ...               any command of apt with it
#
# The packages come from the mirror that this machine's apt uses, so neither its sources nor its package
# state change. fail() is the caller's.

# The first Debian archive in apt's configuration that is not the one for security updates.
find_mirror() {
	{
		apt-get indextargets --format '$(ORIGIN) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
			sed -n 's/^Debian //p'
		cat /etc/apt/sources.list.d/debian*.sources 2>/dev/null | sed -n 's/^URIs: *//p'
		sed -n 's/^deb .*[ \t]\([a-z+]*:[^ ]*\) .*/\1/p' /etc/apt/sources.list 2>/dev/null
	} | tr ' ' '\n' | grep -v -e security -e ubuntu | head -n 1
}

own_begin() {
	own=$1 own_arch=$2
	shift 2
	for tool in apt-get dpkg-deb xz; do
		command -v $tool >/dev/null || fail "no $tool here"
	done
	mirror=${SONDE_DEBIAN_MIRROR:-$(find_mirror)}
	[ "$mirror" ] || fail "apt knows no Debian archive here (SONDE_DEBIAN_MIRROR names one)"
	mkdir -p "$own/lists/partial" "$own/cache/archives/partial" "$own/none" "$own/debs"
	: >"$own/status"
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	signed=
	[ -r $keyring ] && signed=",signed-by=$keyring"
	for suite; do
		echo "deb [arch=$own_arch$signed] $mirror $suite main"
	done >"$own/sources"
	# A suite that is missing there (404) does not matter when another has what is wanted.
	own_apt apt-get update >"$own/log" 2>&1
}

own_apt() {
	tool=$1
	shift
	$tool -q -o Dir::Etc::sourcelist="$own/sources" -o Dir::Etc::sourceparts="$own/none" \
		-o Dir::State::lists="$own/lists" -o Dir::Cache="$own/cache" -o Dir::State::status="$own/status" \
		-o Dir::Etc::preferencesparts="$own/none" -o APT::Architecture="$own_arch" \
		-o APT::Architectures="$own_arch" -o Acquire::Languages=none -o APT::Sandbox::User=root \
		-o Acquire::Retries=2 "$@"
}
