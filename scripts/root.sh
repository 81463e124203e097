#!/bin/sh
# root.sh - the root of the project holds only the names that are listed here; shells leave others by mistake.
set -u
git rev-parse >/dev/null 2>&1 || exit 0
git ls-files -co --exclude-standard | sed 's,/.*,,' | sort -u | while read -r name; do
	case $name in
	.ci | .clang-format | .gitattributes | .gitignore) ;;
	CHANGELOG.md | LICENSE | Makefile | README.md | dev) ;;
	bench | contrib | docs | include | man | packaging | scripts | src | tests | tools) ;;
	*) echo "$name: not a name of the project's root" ;;
	esac
done | { ! grep .; }
