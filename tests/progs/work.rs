// work MS: computes for so long in three threads, with closures, maps, texts and sorting.
use std::collections::HashMap;
use std::time::{Duration, Instant};

#[inline(never)]
fn words(n: u64) -> usize {
    let mut m: HashMap<String, u64> = HashMap::new();
    let mut v: Vec<String> = Vec::new();
    for i in 0..n {
        let w = format!("{}", i * 7919 % 1000);
        *m.entry(w.clone()).or_insert(0) += 1;
        v.push(w);
    }
    v.sort_by(|a, b| b.cmp(a));
    m.len() + v.join(" ").matches('7').count()
}

#[inline(never)]
fn sum(v: &[f64]) -> f64 {
    v.iter().map(|x| x.sin() * x.sqrt()).sum()
}

fn worker(end: Instant) -> usize {
    let v: Vec<f64> = (0..5000).map(|x| x as f64).collect();
    let mut n = 0;
    while Instant::now() < end {
        n += words(500) + (sum(&v) as usize & 1);
    }
    n
}

fn main() {
    let ms = std::env::args().nth(1).and_then(|s| s.parse().ok()).unwrap_or(100);
    let end = Instant::now() + Duration::from_millis(ms);
    let t: Vec<_> = (0..2).map(|_| std::thread::spawn(move || worker(end))).collect();
    let n: usize = worker(end) + t.into_iter().map(|t| t.join().unwrap()).sum::<usize>();
    println!("{}", n > 0);
}
