<?php
// Calls of all kinds. mark() writes the stack as PHP tells it, and makes a getpid(2): phpcalls.php FILE.
// A frame of PHP's says where it was called; here, a line has a function and where it is itself.

namespace Calls {

$out = fopen($argv[1], 'a');

function told(array $frames): string
{
	$text = '';
	$at = null;
	foreach ($frames as $f) {
		$name = $f['function'];
		if (isset($f['class']))
			$name = explode("\0", $f['class'])[0] . '::' . $name;
		elseif (in_array($name, ['include', 'require', 'include_once', 'eval']))
			$name = basename($at['file']);
		$text .= $name . ($at ? "@{$at['file']}:{$at['line']}" : '') . "\n";
		$at = isset($f['file']) ? $f : null;
	}
	return $text . ($at ? basename($at['file']) . "@{$at['file']}:{$at['line']}\n" : '');
}

function mark(): void
{
	global $out;
	$here = debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS);
	fwrite($out, told($here) . "\n");
	getmypid();
}

function recursion(int $n): void
{
	if ($n == 0) {
		mark();
		return;
	}
	recursion($n - 1);
}

function several_lines(
	$first,
	$second
) {
	mark();
	$list = [
		$first,
		mark(),
		$second,
	];
	foreach (range(1, 2) as $n)
		mark();
	return array_map(
		function ($x) {
			mark();
			return $x;
		},
		$list
	);
}

function many(...$args): void
{
	if (count($args) < 3)
		many(...$args, ...[1]);
	else
		mark();
}

trait Marked
{
	public function of_trait(): void
	{
		mark();
	}
}

abstract class Shape implements \Countable, \IteratorAggregate, \ArrayAccess
{
	use Marked;
	protected $size;

	public function __construct($size)
	{
		$this->size = $size;
		mark();
	}

	public static function make($size): self
	{
		mark();
		return new static($size);
	}

	abstract public function area();

	public function count(): int
	{
		mark();
		return 1;
	}

	public function __toString(): string
	{
		mark();
		return 'shape';
	}

	public function __get($name)
	{
		mark();
	}

	public function __call($name, $args)
	{
		mark();
	}

	public static function __callStatic($name, $args)
	{
		mark();
	}

	public function __invoke($x)
	{
		mark();
	}

	public function getIterator(): \Iterator
	{
		mark();
		return new \ArrayIterator([1]);
	}

	public function offsetExists($at): bool
	{
		mark();
		return true;
	}

	#[\ReturnTypeWillChange]
	public function offsetGet($at)
	{
		mark();
	}

	public function offsetSet($at, $v): void
	{
		mark();
	}

	public function offsetUnset($at): void
	{
		mark();
	}
}

class Square extends Shape
{
	use Marked {
		of_trait as of_another;
	}

	public function __construct($size)
	{
		parent::__construct($size);
		mark();
	}

	public function area()
	{
		mark();
		return (function () {
			mark();
			return $this->size;
		})();
	}

	public function __destruct()
	{
		mark();
	}
}

function with_errors(): void
{
	try {
		try {
			throw new \RuntimeException('first');
		} finally {
			mark();
		}
	} catch (\RuntimeException $e) {
		mark();
	}
	set_error_handler(function () {
		mark();
		return true;
	});
	echo $undefined;
	restore_error_handler();
}

function numbers()
{
	mark();
	$got = yield 1;
	mark();
	yield from [2];
	recursion(1);
	yield 3;
}

function calls(): void
{
	recursion(0);
	recursion(5);
	recursion(60);
	several_lines(1, 2);
	many();
	call_user_func('Calls\recursion', 1);
	call_user_func_array([new \ArrayObject([1]), 'count'], []);
	array_map('Calls\recursion', [1, 2]);
	$list = [2, 1];
	usort($list, function ($a, $b) {
		mark();
		return $a - $b;
	});
	preg_replace_callback('/a/', fn($m) => [mark(), 'b'][1], 'a');
	array_walk($list, function () {
		foreach ([1] as $x)
			array_filter([$x], function () {
				mark();
			});
	});
	(new \ReflectionFunction('Calls\recursion'))->invoke(1);
}

function objects(): void
{
	$s = Square::make(3);
	$s->area();
	count($s);
	"$s";
	$s->absent;
	$s->absent(1);
	Square::absent();
	$s(1);
	foreach ($s as $x)
		mark();
	$s[1];
	$s[1] = 2;
	isset($s[1]);
	unset($s[1]);
	$s->of_trait();
	if (PHP_VERSION_ID >= 80000) /* before, it runs by the other name */
		$s->of_another();
	$made = new class(1) extends Square {
	};
	$made->area();
	array_map([$s, 'area'], [1]);
	\Closure::fromCallable([$s, 'area'])();
	\Closure::bind(function () {
		mark();
	}, $s, Shape::class)();
}

function generators(): void
{
	foreach (numbers() as $n)
		mark();
	$g = numbers();
	$g->current();
	$g->send(5);
	iterator_to_array((function () {
		yield mark();
	})());
}

function files(): void
{
	$path = tempnam(sys_get_temp_dir(), 'calls');
	file_put_contents($path, "<?php\n\nfunction included()\n{\n\tCalls\\mark();\n}\nCalls\\mark();\nincluded();\n");
	include $path;
	\included();
	unlink($path);
	eval("\nCalls\\mark();\n");
	spl_autoload_register(function ($name) {
		mark();
	});
	spl_autoload_call('Calls\Absent');
}

function children(): void
{
	if (!function_exists('pcntl_fork'))
		return;
	$pid = pcntl_fork();
	if (!$pid) {
		recursion(2);
		generators();
		exit(0);
	}
	pcntl_waitpid($pid, $status);
	mark();
}

calls();
objects();
with_errors();
generators();
files();
children();
mark();
register_shutdown_function('Calls\recursion', 1);

}
