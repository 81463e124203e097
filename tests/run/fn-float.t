NAME floating point: print, compare, convert
RUN "$SONDE" -q -c "$SONDE_TESTS"/symbols -e "uprobe:$SONDE_TESTS/symbols:touch { \$d = (double *)arg1; \$f = (float *)arg2; printf(\"%f %.2f %8.1f %e %g %s %f %-8.2f|\n\", *\$d, *\$d, *\$d, *\$d, *\$d, *\$d, *\$f, *\$f); print(*\$f); print(((int64)*\$d, (int32)*\$f, (uint8)*\$d)); print((*\$d > 2, *\$d < 2, *\$d == *\$d, *\$f < *\$d, *\$f != *\$d, *\$f < 0, *\$f >= -1, 3 > *\$d)); \$x = *\$d; @m[\"a\"] = \$x; @s = max((int64)\$x); if (\$x > 2 && *\$f < 0) { print(\"yes\"); } exit() }" 2>&1 | grep -v untouched | awk '!seen[$0]++'
NEEDS uprobe prog:symbols
EXPECT
	2.500000 2.50      2.5 2.500000e+00 2.5 2.5 -1.250000 -1.25   |
	-1.25
	(2, -1, 2)
	(true, false, true, true, true, true, false, true)
	yes
	$
	@m[a]: 2.5
	@s: 2

NAME floating point misuse
PROG BEGIN { $x = (double *)0; print(*$x + 1); printf("%d", *$x); printf("%f", 1); print(*$x == pid); @[*$x] = 1; }
RC 1
EXPECT
ERR_RE
	stdin:.* ERROR: Type mismatch for '\+': .*
	...
	stdin:.* ERROR: unsupported format specifier for type 'float': d
	...
	stdin:.* ERROR: unsupported format specifier: f
	...
	stdin:.* ERROR: Type mismatch for '==': .*
	...
	stdin:.* ERROR: float cannot be used as a key of @
	...
