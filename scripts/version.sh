#!/bin/sh
# version.sh - print C source that says which commit $CC builds: that of git where this is git's folder,
# "-changed" when it differs from it; that which `git archive` wrote into scripts/commit; or $COMMIT.
cd "$(dirname "$0")/.." || exit 1
commit=${COMMIT-}
if [ -z "$commit" ] && [ -e .git ] && commit=$(git rev-parse --short=12 HEAD 2> /dev/null); then
	git diff --quiet HEAD 2> /dev/null || commit=$commit-changed
fi
read -r archived < scripts/commit
case $archived in
*Format*) ;;
*) commit=${commit:-$archived} ;;
esac
cat << END
#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "GCC " __VERSION__
#endif
extern const char sonde_commit[], sonde_build[];
const char sonde_commit[] = "${commit:-unknown}";
const char sonde_build[] = "$(${CC:-cc} -dumpmachine), " COMPILER;
END
