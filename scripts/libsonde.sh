#!/bin/sh
# libsonde.sh VERSION PREFIX LIBDIR LIBS... - the pkg-config file, for what is linked with LIBS. Static users need the
# libraries themselves; archives among LIBS become -lNAME.
version=$1 prefix=$2 libdir=$3
shift 3
private=
for word; do
	case $word in
	*/lib*.a) word=${word##*/lib} private="$private -l${word%.a}" ;;
	-l*) private="$private $word" ;;
	esac
done
cat << END
prefix=$prefix
libdir=\${prefix}/$libdir
includedir=\${prefix}/include

Name: libsonde
Description: compile tracing scripts to eBPF, run them, and receive what they find
Version: $version
Libs: -L\${libdir} -lsonde
Libs.private:$private
Cflags: -I\${includedir}
END
