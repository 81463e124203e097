// Calls of all kinds. mark() writes the stack as Java tells it, and makes a getppid(2): JavaCalls FILE.
// It writes "ready"; the end of standard input is the sign to begin. Then it writes "done", and waits for SIGTERM.
import java.io.FileWriter;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import java.util.stream.IntStream;

public class JavaCalls {
	static FileWriter out;

	static String describe(StackTraceElement e) {
		String name = e.getClassName() + "." + e.getMethodName();
		if (e.getFileName() == null)
			return name;
		return name + "@" + e.getFileName() + (e.getLineNumber() > 0 ? ":" + e.getLineNumber() : "");
	}

	static synchronized int mark() {
		StackTraceElement[] stack = new Throwable().getStackTrace();
		StringBuilder text = new StringBuilder("what makes the system call\n");
		for (int i = 0; i < stack.length; i++)
			text.append(describe(stack[i])).append('\n');
		try {
			out.write(text.append('\n').toString());
			out.flush();
		} catch (java.io.IOException e) {
			throw new RuntimeException(e);
		}
		ProcessHandle.current().parent();
		return 0;
	}

	static int recursion(int n) {
		if (n > 0)
			return recursion(n - 1);
		return mark();
	}

	interface Shape {
		int area(int size);

		default int twice(int size) {
			return 2 * area(size);
		}
	}

	static class Square implements Shape {
		static int made;

		static {
			mark();
			made = 1;
		}

		Square() {
			mark();
		}

		public int area(int size) {
			mark();
			return size * size;
		}

		class Inner {
			long many(long a, double b, int c, String d, long e, double f, int g, Object h, long i) {
				mark();
				return a + c + e + g + i + made;
			}
		}
	}

	static void objects() {
		Square s = new Square();
		s.twice(3);
		s.new Inner().many(1, 2, 3, "4", 5, 6, 7, s, 8);
		new Shape() {
			public int area(int size) {
				return mark();
			}
		}.twice(1);
	}

	static void lambdas() {
		Supplier<Integer> supplier = () -> mark();
		supplier.get();
		IntUnaryOperator reference = JavaCalls::recursion;
		reference.applyAsInt(2);
		IntStream.range(0, 3).map(i -> i * 2).filter(i -> i > 2).forEach(i -> mark());
		Integer[] numbers = {2, 1};
		Arrays.sort(numbers, (a, b) -> {
			mark();
			return a - b;
		});
	}

	static void exceptions() {
		try {
			try {
				throw new IllegalStateException();
			} catch (IllegalStateException e) {
				mark();
				throw e;
			} finally {
				mark();
			}
		} catch (IllegalStateException e) {
			recursion(1);
		}
	}

	static <T> T called(Callable<T> c) throws Exception {
		FutureTask<T> task = new FutureTask<>(c);
		Thread t = new Thread(task);
		t.start();
		return task.get();
	}

	public static void reflected() {
		mark();
	}

	static class Counting implements Iterable<Integer> {
		public Iterator<Integer> iterator() {
			List<Integer> list = new ArrayList<>();
			list.add(mark());
			return list.iterator();
		}
	}

	static void others() throws Exception {
		JavaCalls.class.getMethod("reflected").invoke(null);
		for (int i : new Counting())
			recursion(i);
		called(() -> recursion(3));
		synchronized (out) {
			mark();
		}
		String text = "a";
		switch (text + mark()) {
		case "a0":
			mark();
			break;
		default:
			break;
		}
	}

	static int busy(int n) {
		int sum = 0;
		for (int i = 0; i < n; i++)
			sum += i % 7 == 0 ? 3 : 1;
		if (n == 20000)
			mark();
		return sum;
	}

	public static void main(String[] args) throws Exception {
		out = new FileWriter(args[0]);
		Runtime.getRuntime().addShutdownHook(new Thread(() -> Runtime.getRuntime().halt(0)));
		System.out.println("ready");
		while (System.in.read() >= 0)
			;
		recursion(0);
		recursion(20);
		objects();
		lambdas();
		exceptions();
		others();
		for (int i = 0; i <= 20000; i += 100)
			busy(i);
		System.out.println("done");
		Thread.sleep(Long.MAX_VALUE);
	}
}
