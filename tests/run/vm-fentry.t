NAME arguments by name
PROG fentry:vfs_write /pid == cpid/ { printf("%d\n", args.count); }
LOAD rw w55
NEEDS fentry
EXPECT
	55
	$
	$

NAME typed walks
PROG fentry:vfs_write /pid == cpid/ { printf("%s\n", str(args.file->f_path.dentry->d_name.name)); }
LOAD rw w55
NEEDS fentry
EXPECT
	null
	$
	$

NAME exit with arguments and result
PROG fexit:vfs_write /pid == cpid/ { printf("%d of %d\n", retval, args.count); }
LOAD rw w55 w66
NEEDS fentry
EXPECT
	55 of 55
	66 of 66
	$
	$

NAME old names
PROG kfunc:vfs_write /pid == cpid/ { @a = count(); } kretfunc:vfs_write /pid == cpid/ { @b = count(); }
LOAD rw w55 w66
NEEDS fentry
EXPECT
	$
	$
	@a: 2
	@b: 2

NAME module, func and probe
PROG fentry:vmlinux:vfs_write /pid == cpid/ { printf("%s %s\n", func, probe); }
LOAD rw w55
NEEDS fentry
EXPECT
	vfs_write fentry:vmlinux:vfs_write
	$
	$

NAME list with types
RUN "$SONDE" -lv 'fexit:vmlinux:vfs_read'
NEEDS fentry
EXPECT_RE
	fexit:vmlinux:vfs_read
	    struct file \* file
	    char \* buf
	    size_t count
	    loff_t \* pos
	    ssize_t retval
