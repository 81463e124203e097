struct bad {
	nothing x;
};
