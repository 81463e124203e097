int addtwo(int a) { return a + 2; }
