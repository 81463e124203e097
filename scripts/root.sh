#!/bin/sh
# root.sh - the root of the project, and that of its tests, hold only the names that are listed here: shells leave others
# by mistake, and scripts of tests belong into folders.
set -u
git rev-parse >/dev/null 2>&1 || exit 0
git ls-files -co --exclude-standard | sed 's,/.*,,' | sort -u | while read -r name; do
	case $name in
	.ci | .clang-format | .gitattributes | .gitignore) ;;
	CHANGELOG.md | LICENSE | Makefile | README.md | dev) ;;
	bench | contrib | docs | include | man | packaging | scripts | src | tests | tools) ;;
	*) echo "$name: not a name of the project's root" ;;
	esac
done | { ! grep .; } || exit 1
git ls-files -co --exclude-standard tests | sed -n 's,^tests/\([^/]*\)$,\1,p' | while read -r name; do
	case $name in
	README.md | audit.md | check.sh | run.sh) ;;
	*) echo "tests/$name: belongs into a folder of tests/" ;;
	esac
done | { ! grep .; }
