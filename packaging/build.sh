#!/bin/sh
# Packages of what is here, into build/package:   packaging/build.sh deb|rpm|tarball
#
#   deb      sonde, sonde-dev, sonde-tools of this Debian or Ubuntu        needs debhelper
#   rpm      the same three                                                needs rpmbuild
#   tarball  the static file, manual, completion, header, licence, with checksums
#
# Nothing is downloaded. Built twice, a package has the same bytes: all times are $SOURCE_DATE_EPOCH,
# which is the commit's time when not set. $DEBFULLNAME, $DEBEMAIL: who answers for the packages.
# $BUILT: a folder of objects that deb takes as far as they are of the same flags (tests: DEB_CFLAGS_SET ...).
set -eu
cd "$(dirname "$0")/.."
root=$PWD
out=$root/build/package
version=$(sed -n 's/^#define SONDE_VERSION *"\(.*\)"$/\1/p' src/api/version.h)
jobs=$(nproc 2>/dev/null || echo 2)

# Of git, or of the archive that git made.
if [ -e .git ] && git rev-parse HEAD >/dev/null 2>&1; then
	COMMIT=${COMMIT:-$(git rev-parse --short=12 HEAD)$(git diff --quiet HEAD || echo -changed)}
	SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
else
	read -r commit time <scripts/commit
	case $commit in *Format*) commit='' time='' ;; esac
	COMMIT=${COMMIT:-$commit}
	SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-${time:-$(stat -c %Y CHANGELOG.md)}}
fi
DEBFULLNAME=${DEBFULLNAME:-sonde maintainers}
DEBEMAIL=${DEBEMAIL:-maintainers@sonde.example}
export COMMIT SOURCE_DATE_EPOCH DEBFULLNAME DEBEMAIL TZ=UTC LC_ALL=C
umask 022

# The source in a folder of its own: git's files, or all but what was built.
copy_source() {
	rm -rf "$1"
	mkdir -p "$1"
	if [ -e .git ]; then
		git ls-files -co --exclude-standard -z | xargs -0 ls -d 2>/dev/null | tar -c -T -
	else
		tar -c --exclude=./build .
	fi | tar -x --no-same-owner -C "$1"
}

# Same order, owner, times and modes, whoever packs.
pack() {
	tar -c --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw,a-s "$@"
}

# logged LOG COMMAND...: its output is in LOG; compiled files, the steps of dh and rpmbuild, and tests on standard error.
logged() {
	log=$1
	shift
	echo 0 >"$log.code"
	{ "$@" 2>&1 || echo $? >"$log.code"; } | tee "$log" |
		sed -nu '/^  [A-Z]\{2,4\} /p; s/^ *\(dh_.*\|Executing(.*\|packaged: .*\)/  \1/p' >&2
	code=$(cat "$log.code")
	rm "$log.code"
	[ "$code" = 0 ] || { tail -n 20 "$log" >&2; exit 1; }
}

tarball() {
	name=sonde-$version-$(uname -m)
	rm -rf "${out:?}/$name"
	make -s -j"$jobs" install-static DESTDIR="$out/$name" PREFIX=/ TOOLS=1
	install -m 644 LICENSE README.md CHANGELOG.md "$out/$name"
	(cd "$out/$name" && find . -type f ! -name SHA256SUMS | sort | xargs sha256sum | sed 's, \./, ,' >SHA256SUMS)
	pack -C "$out" "$name" | gzip -n -9 >"$out/$name.tar.gz"
	rm -rf "${out:?}/$name"
	(cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
	echo "$out/$name.tar.gz"
}

deb() {
	command -v dh >/dev/null || { echo 'packaging/build.sh: please install debhelper' >&2; exit 1; }
	src=$out/deb/sonde-$version
	copy_source "$src"
	cp -r packaging/debian "$src/debian"
	[ -z "${BUILT-}" ] || {
		mkdir "$src/build"
		(cd "$BUILT" && cp -a src gen flags linker libs objects sonde "$src/build")
	}
	sed -i "s/@MAINTAINER@/$DEBFULLNAME <$DEBEMAIL>/" "$src/debian/control"
	cat >"$src/debian/changelog" <<END
sonde ($version) unstable; urgency=medium

  * Commit ${COMMIT:-unknown}; see CHANGELOG.md.

 -- $DEBFULLNAME <$DEBEMAIL>  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END
	(cd "$src" && logged "$out/deb.log" dpkg-buildpackage -b -us -uc -d ${BUILT:+-nc}) || exit 1
	rm -f "$out"/*.deb
	mv "$out"/deb/*.deb "$out"
	rm -rf "$out/deb"
	ls "$out"/*.deb
}

rpm() {
	command -v rpmbuild >/dev/null || { echo 'packaging/build.sh: please install rpm-build (Debian: rpm)' >&2; exit 1; }
	top=$out/rpm
	copy_source "$top/BUILD/sonde-$version"
	logged "$out/rpm.log" rpmbuild -bb --nodeps --build-in-place --define "_topdir $top" --define "_builddir $top/BUILD/sonde-$version" \
		--define "sonde_version $version" --define "packager $DEBFULLNAME <$DEBEMAIL>" \
		--define '_buildhost localhost' --define 'use_source_date_epoch_as_buildtime 1' \
		--define 'clamp_mtime_to_source_date_epoch 1' packaging/sonde.spec
	rm -f "$out"/*.rpm
	find "$top/RPMS" -name '*.rpm' -exec mv {} "$out" \;
	rm -rf "$top"
	ls "$out"/*.rpm
}

mkdir -p "$out"
case ${1-} in
deb | rpm | tarball) "$1" ;;
*) sed -n '2,/^set -eu/{ /^#/s/^# \{0,1\}//p; }' "$0" >&2; exit 2 ;;
esac
