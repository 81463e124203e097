# Calls of all kinds. mark() writes the stack as Ruby tells it, and makes a getppid(2): rbcalls.rb FILE.
# Functions written in C are left out: they have no place in the source.

NATIVE = %w[each map sort_by sort each_with_index new resume next instance_eval eval call send public_send
            fork inject to_proc collect instance_exec class_eval each_slice synchronize reduce
            fetch catch define_method times upto join puts each_entry each_key loop value handle_interrupt
            raise throw yield each_char gsub sum select require load then tap].freeze

$out = File.open(ARGV[0], "a")
$out.sync = true

def mark
  lines = caller_locations(1).reject { |l| NATIVE.include?(l.label) && !l.path.to_s.start_with?("<internal:") }
  text = lines.map { |l| "#{l.label}@#{l.path}:#{l.lineno}\n" }.join
  $out.write(text + "\n")
  Process.ppid
end

def recursion(n)
  return mark if n.zero?
  recursion(n - 1)
end

def many_lines(x)
  a = x + 1
  b = a * 2
  c = b - a
  d = [a, b, c].map { |v| v + 1 }
  e = { a: a, b: b, c: c, d: d }
  f = "#{a} #{b} #{c} #{d} #{e}"
  g = f.length + a + b + c
  h = g > 100 ? g - 100 : g + 100
  i = [a, b, c, g, h].sort_by do |v|
    mark if v == a
    -v
  end
  j = i.inject(0) { |s, v| s + v }
  k = f.gsub("1") { |m| mark; m }
  l = [k.length, j, a, b, c, d.length, e.length, f.length, g, h, i.length]
  m = l.map { |v| v * 2 }
  n = m.map { |v| v * 3 }
  o = n.map { |v| v * 4 }
  mark
  [m, n, o]
end

class Shape
  def self.make(*args, **more, &block)
    new(*args, **more, &block)
  end

  def initialize(size, name: "x")
    @size = size
    mark
    yield self if block_given?
  end

  def <=>(other)
    mark
    @size <=> other.size
  end

  def to_s
    mark
    "shape"
  end

  def method_missing(name, *args)
    return super unless name == :absent
    mark
  end

  def respond_to_missing?(name, all = false)
    name == :absent
  end

  attr_reader :size
  define_method(:defined_so) { |x| x.zero? ? mark : defined_so(x - 1) }
  mark
end

class Square < Shape
  def initialize(size)
    super(size, name: "square")
    mark
  end
end

def with_errors
  raise ArgumentError, "first"
rescue ArgumentError
  begin
    mark
    raise "second"
  rescue StandardError
    mark
  ensure
    mark
  end
end

def tried
  count = 0
  begin
    count += 1
    raise "again" if count < 3
    mark
  rescue StandardError
    mark
    retry
  end
end

def yields
  yield 1
end

def calls
  recursion(0)
  recursion(5)
  recursion(60)
  many_lines(3)
  Shape.make(1) { |s| s.defined_so(2) }
  [Shape.new(3), Shape.new(2)].sort
  "#{Shape.new(1)}"
  Shape.new(0).absent
  Square.new(4)
end

def blocks
  with_errors
  tried
  yields { |x| [x].each { |y| [y].map { mark } } }
  -> { mark }.call
  proc { |x| recursion(x) }.call(2)
  %w[a].each_with_index { |_s, _i| mark }
  method(:recursion).to_proc.call(1)
  [1].each(&method(:recursion))
  eval("def evaluated\n  mark\nend\nevaluated", binding, "made.rb", 10)
  Shape.new(1).instance_eval { mark }
  1.then { |_x| mark }
  catch(:done) { mark; throw :done }
  loop { mark; break }
end

def stacks_of_their_own
  fiber = Fiber.new { recursion(1); Fiber.yield; mark }
  fiber.resume
  fiber.resume
  numbers = Enumerator.new { |y| mark; y << 1; mark }
  numbers.next
  begin
    numbers.next
  rescue StopIteration
    mark
  end
  [0, 1, 2].each { |i| Thread.new { recursion(i); with_errors }.join }
  Thread.new { recursion(3); yields { mark } }.join
  pid = fork do
    recursion(2)
    yields { mark }
  end
  Process.wait(pid)
  mark
  at_exit { mark }
end

calls
blocks
stacks_of_their_own
