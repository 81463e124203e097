# Python programs that are begun one after the other, and live for some milliseconds.
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	/usr/bin/python3 -S -E tests/progs/pysort.py
done
